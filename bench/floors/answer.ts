// Floor of `read` and `presence`: a bare uWebSockets.js server that answers bytes prepared beforehand, the very bytes that the real
// server answered. A GET costs a map look-up; a POST parses its form and keeps the caller's last row in memory (what a
// volatile presence ping is at the least). Bodies come in ANSWERS_FILE: {"GET /path": "...", "POST /path": "..."}.

import { App } from "uWebSockets.js";
import { readFileSync } from "node:fs";
import { answerJson, parseForm, readBody, serveFloor } from "./floor.ts";

const prepared = JSON.parse(readFileSync(process.env["ANSWERS_FILE"] ?? "", "utf8")) as Record<string, string>;
const answers = new Map(Object.entries(prepared).map(([route, body]) => [route, Buffer.from(body, "utf8")]));
/** An answer that was not prepared must fail the run: a short error would make a fast floor. */
const missing = Buffer.from('{"result":"error","msg":"no such route on this floor"}');
const rows = new Map<string, { readonly status: string; readonly time: number }>();

const app = App();
app.get("/*", (res, req) => {
  const body = answers.get(`GET ${req.getUrl()}`);
  if (body === undefined) res.writeStatus("404 Not Found").end(missing);
  else answerJson(res, body);
});
app.post("/*", (res, req) => {
  const body = answers.get(`POST ${req.getUrl()}`);
  const caller = req.getHeader("authorization");
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  readBody(res, (form) => {
    rows.set(caller, { status: parseForm(form).get("status") ?? "", time: Date.now() });
    if (aborted) return;
    if (body === undefined) res.cork(() => res.writeStatus("404 Not Found").end(missing));
    else answerJson(res, body);
  });
});
serveFloor(app);
