/**
 * The maximum length of a request line (S3), in the real process: the limit of uWebSockets.js on a request head is set
 * at start-up, and its own rejections have no envelope. The bounds of a path and of a query must be lower, otherwise
 * they are never reached.
 */
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import { expects, outcome, refusal } from "../support/client.ts";
import { exchange } from "../support/http.ts";
import { startProgram } from "../support/process.ts";
import { temporaryFolder } from "../support/server.ts";

const { owner, url } = await startProgram(t, temporaryFolder(t));
/** As sent by a browser that has cookies of other sites on the host, through proxies. */
const cookies = { Cookie: "c".repeat(10 * 1024) };
const tooLong = refusal("The request line is too long");
const prefix = "/api/v1";

function ofLength(start: string, bytes: number): string {
  return start + "x".repeat(bytes - start.length);
}

t.test("[S3] url_query_bytes_max: a query may be that long; one byte more is rejected with the envelope", async (t) => {
  const query = ofLength("surplus=", limits.url_query_bytes_max);
  const taken = await owner.send("GET", `/users/me?${query}`, null, cookies);
  t.match(outcome(taken), { status: 200, body: { user_id: 2, ignored_parameters_unsupported: ["surplus"] } });
  await expects(t, owner.send("GET", `/users/me?${query}x`, null, cookies), tooLong);
});

t.test("[S3] path_bytes_max: a path may be that long; one byte more is rejected with the envelope", async (t) => {
  const path = ofLength("/", limits.path_bytes_max - prefix.length);
  const query = ofLength("surplus=", limits.url_query_bytes_max);
  for (const rest of ["", `?${query}`]) {
    t.match(outcome(await owner.send("GET", path + rest, null, cookies)), { status: 404, body: { code: "NOT_FOUND" } });
    await expects(t, owner.send("GET", `${path}x${rest}`, null, cookies), tooLong);
  }
});

t.test("[S3] http_head_bytes_max: a larger head is rejected while it arrives, the next is served", async (t) => {
  const cookie = "c".repeat(limits.http_head_bytes_max);
  const answer = await exchange(url, `GET ${prefix}/server_settings HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`);
  t.equal(answer?.status ?? 431, 431, "uWebSockets.js itself answers, if the client still reads");
  t.equal((await owner.get("/users/me")).status, 200);
});
