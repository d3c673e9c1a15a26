// Forwards a request to another server, and returns its answer.
import { request } from "node:http";

export function forward(incoming, answer, { hostname, port }, headers) {
  const { method, url: path } = incoming;
  const onward = request({ hostname, port, method, path, headers }, (reply) => {
    answer.writeHead(reply.statusCode, reply.headers);
    reply.pipe(answer);
  });
  onward.on("error", (error) => answer.destroy(error));
  incoming.pipe(onward);
}
