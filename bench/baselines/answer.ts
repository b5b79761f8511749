// Baseline of `read` and `presence`: a bare uWebSockets.js server that sends the bytes that the real server sent. A GET
// costs a map lookup; a POST parses its form and keeps the caller's last row in memory (the minimum for a volatile
// presence ping). The bodies are in ANSWERS_FILE: {"GET /path": "...", "POST /path": "..."}.

import { App } from "uWebSockets.js";
import { readFileSync } from "node:fs";
import { answerJson, parseForm, readBody, serveBaseline } from "./baseline.ts";

const prepared = JSON.parse(readFileSync(process.env["ANSWERS_FILE"] ?? "", "utf8")) as Record<string, string>;
const answers = new Map(Object.entries(prepared).map(([route, body]) => [route, Buffer.from(body, "utf8")]));
/** A request without a prepared response must fail the run: a short error would make the baseline look fast. */
const missing = Buffer.from('{"result":"error","msg":"no such route on this baseline"}');
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
serveBaseline(app);
