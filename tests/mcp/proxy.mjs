// A proxy that adds an access token to each request, which the conformance suite cannot send, and
// replaces its own address by that of the service.
//
//   node proxy.mjs http://127.0.0.1:8080 TOKEN    prints the address of the proxy
import { createServer } from "node:http";

import { forward } from "./forward.mjs";

const [target, token] = process.argv.slice(2);
const service = new URL(target);

const server = createServer((incoming, answer) => {
  const own = `127.0.0.1:${server.address().port}`;
  const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
  for (const name of ["host", "origin"]) {
    headers[name] = headers[name]?.replace(own, service.host);
    if (headers[name] === undefined) delete headers[name];
  }
  forward(incoming, answer, service, headers);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
