/** An invitation ends with a session (D256): the new account is logged in. */
import t from "tap";
import { Page } from "../support/page.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);

/** Submits the form of a new invitation, as a browser does. */
async function submit(name: string, headers: Record<string, string>) {
  const { url, owner } = server;
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

t.test("[D256] a user who joins is logged in, and the page leads on", async (t) => {
  const joined = await submit("ann", own);
  t.equal(joined.status, 200);
  t.match(await joined.text(), '<a href="/">');
  const page = new Page(server.url);
  page.take(joined.headers);
  t.equal((await page.get("/session")).body.full_name, "ann");
});

t.test("[S1] [CSRF_FAILED] a page of another site cannot log anybody in to an account that it makes", async (t) => {
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
