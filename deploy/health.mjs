/** For container health checks: exits with 0 while the server wants traffic (GET /readyz of ADMIN_LISTEN). */
import { request } from "node:http";
import { join, relative, resolve } from "node:path";

const { ADMIN_LISTEN: listen = "", DATA_DIR: dataDir = "./data" } = process.env;
const path = listen.includes("/") ? resolve(listen) : join(resolve(dataDir), "admin.sock");
// The kernel accepts 107 bytes.
const socketPath = path.length > 107 ? relative(process.cwd(), path) : path;
const [, six, name, port] = /^(?:\[([^\]]+)\]|([^/:]+)):(\d+)$/.exec(listen) ?? [];
const where = port === undefined ? { socketPath } : { host: six ?? name, port };
const sent = request({ ...where, path: "/readyz", timeout: 4000 }, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
});
sent.on("timeout", () => sent.destroy(new Error("no answer in 4 s")));
sent.on("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
sent.end();
