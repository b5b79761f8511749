/** Whether a NATS server answers at all: it greets each connection with a line that begins with INFO, before TLS. */
import { connect } from "node:net";
import { limits } from "../../../schemas/limits.ts";

/** @param servers `host:port` of each */
export async function isAnyThere(servers: readonly string[]): Promise<boolean> {
  return (await Promise.all(servers.map(greets))).includes(true);
}

function greets(server: string): Promise<boolean> {
  const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(server) ?? [];
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: limits.cluster_connect_ms_max });
    const end = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("data", (bytes) => end(bytes.toString("latin1").startsWith("INFO")));
    for (const event of ["error", "timeout", "close"]) socket.once(event, () => end(false));
  });
}
