// Adds an access token to each request, which the conformance suite cannot send, and names the
// service where the suite names this proxy.
//
//   node proxy.mjs http://127.0.0.1:8080 TOKEN    prints the address that it listens on
import { createServer, request } from "node:http";

const [target, token] = process.argv.slice(2);
const { hostname, port, host } = new URL(target);

const server = createServer((incoming, answer) => {
  const own = `127.0.0.1:${server.address().port}`;
  const headers = { ...incoming.headers, authorization: `Bearer ${token}` };
  for (const name of ["host", "origin"]) {
    headers[name] = headers[name]?.replace(own, host);
    if (headers[name] === undefined) delete headers[name];
  }
  const { method, url: path } = incoming;
  const onward = request({ hostname, port, method, path, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on("error", (error) => answer.destroy(error));
  incoming.pipe(onward);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
