/** An invitation ends with a session (D256): the new account is logged in. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Page } from "../support/page.ts";
import { startTestServer, type TestServer, temporaryFolder } from "../support/server.ts";

/** The page, as far as this test needs it. */
function builtPage(): string {
  const webFolder = temporaryFolder(t);
  mkdirSync(join(webFolder, "assets"));
  writeFileSync(join(webFolder, "index.html"), "<!doctype html><title>Colloquy</title>");
  return webFolder;
}

const server = await startTestServer(t, { webFolder: builtPage() });
const bare = await startTestServer(t, { webFolder: join(temporaryFolder(t), "none") });

/** Submits the form of a new invitation, as a browser does. */
async function submit(name: string, headers: Record<string, string>, { url, owner }: TestServer = server) {
  const { body } = await owner.post("/invites/multiuse", {});
  const { pathname } = new URL(body.invite_link);
  const form = new URLSearchParams({
    full_name: name,
    email: `${name}@example.com`,
    password: "correct horse battery",
  });
  return fetch(`${url}${pathname}`, { method: "POST", redirect: "manual", headers, body: form });
}

const own = { "Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate" };

t.test("[D256] a user who joins in a browser goes on in the page, logged in", async (t) => {
  const joined = await submit("ann", own);
  t.equal(joined.status, 302);
  t.equal(joined.headers.get("location"), "/");
  const page = new Page(server.url);
  page.take(joined.headers);
  t.equal((await page.get("/session")).body.full_name, "ann");
});

t.test("[D256] without a page, and for browsers that do not say where they are, a welcome leads on", async (t) => {
  for (const joined of [await submit("ben", own, bare), await submit("carol", {})]) {
    t.equal(joined.status, 200);
    t.match(await joined.text(), '<a href="/">');
    t.match(joined.headers.get("set-cookie"), /^session=/);
  }
});

t.test("[S1] a page of another site cannot log anybody in to an account that it makes", async (t) => {
  for (const headers of [
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
    { Origin: "https://evil.example" },
  ]) {
    const refused = await submit("cleo", headers as Record<string, string>);
    t.equal(refused.status, 403);
    t.equal(refused.headers.get("set-cookie"), null);
  }
});
