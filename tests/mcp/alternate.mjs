// A proxy before several instances of the service, which uses the instances by turns.
//
//   node alternate.mjs FILE    prints the address of the proxy; FILE lists the addresses of the
//                              instances, one a line, once they have started
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

import { forward } from "./forward.mjs";

const [file] = process.argv.slice(2);
let instances = [];
let next = 0;

const server = createServer((incoming, answer) => {
  if (instances.length === 0) instances = readFileSync(file, "utf8").trim().split("\n");
  forward(incoming, answer, new URL(instances[next++ % instances.length]), incoming.headers);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
