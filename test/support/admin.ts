/** Requests to a server's admin socket. */
import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { adminSocket, shortPath } from "../../src/operate/admin/listener.ts";

export interface AdminAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface AdminRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Keeps its connection for further requests. */
  readonly agent?: Agent;
}

/** @param where the data folder of the server, or the port of its admin listener */
export function askAdmin(where: string | number, path: string, given: AdminRequest = {}): Promise<AdminAnswer> {
  const target = typeof where === "number" ? { port: where } : { socketPath: shortPath(adminSocket(where)) };
  const { method = "GET", headers = {}, body, agent } = given;
  return new Promise((done, fail) => {
    const sent = request({ ...target, path, method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", fail);
      response.on("end", () => {
        const { statusCode: status = 0, headers: got } = response;
        done({ status, contentType: got["content-type"] ?? "", headers: got, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

/** Asks until the server is as ready as that: the size of its stores is measured once a second. */
export async function untilReadiness(dataDir: string, status: 200 | 503): Promise<AdminAnswer> {
  for (;;) {
    const answer = await askAdmin(dataDir, "/readyz");
    if (answer.status === status) return answer;
  }
}

/** The value of a sample, written as in the output, e.g. `colloquy_sockets`; undefined if there is none. */
export function sampleIn(text: string, sample: string): number | undefined {
  const line = text.split("\n").find((one) => one.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}
