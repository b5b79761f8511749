/**
 * Static files: the emoji list that clients load, and the image that messages refer to (OpenAPI,
 * server_emoji_data_url).
 */
import t from "tap";
import { emojiCodes } from "../../domain/emoji/emoji-table.ts";
import { fetchPage, lookAt } from "../support/pictures.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner, url } = server;

t.test("/register has an absolute URL of a file with all emoji and their names", async (t) => {
  const { server_emoji_data_url: address } = await owner.register({ fetch_event_types: ["realm"] });
  t.ok(String(address).startsWith(`${url}/static/`), String(address));
  const page = await fetchPage("", String(address), { Origin: "https://elsewhere.example" });
  t.equal(page.status, 200, "without an account");
  t.equal(page.headers.get("Content-Type"), "application/json");
  t.equal(page.headers.get("Access-Control-Allow-Origin"), "*");
  t.match(page.headers.get("Cache-Control") ?? "", /public.*max-age=31536000.*immutable/);
  const { code_to_names: names } = JSON.parse(page.bytes.toString()) as { code_to_names: Record<string, string[]> };
  t.strictSame(Object.keys(names).sort(), [...emojiCodes()].sort());
  t.equal(names["1f600"]?.[0], "grinning");
  t.strictSame(names["1f44d"]?.slice(0, 3), ["+1", "thumbs_up", "like"]);
  const again = await fetchPage("", String(address), { "If-None-Match": page.headers.get("ETag") ?? "" });
  t.equal(again.status, 304);
  t.equal(again.bytes.length, 0);
  t.equal(
    (await fetchPage("", String(address).replace(/[0-9a-f]{16}/, "0".repeat(16)))).status,
    404,
    "of other content",
  );
});

t.test("a client that does not request the realm section gets no URL", async (t) => {
  t.notOk("server_emoji_data_url" in (await owner.register({ fetch_event_types: ["message"] })));
});

t.test("[behaviour 5.8] the picture of the extra emoji is at the URL in messages", async (t) => {
  const channelId = await owner.createChannel("static", [owner]);
  const id = await owner.say(channelId, "t", ":zulip:");
  const { content } = (await owner.get(`/messages/${id}`, { apply_markdown: true })).body.message;
  const source = /<img[^>]* src="([^"]+)"/.exec(content)?.[1] ?? "";
  const page = await fetchPage(url, source);
  t.equal(page.status, 200, source);
  t.equal(page.headers.get("Content-Type"), "image/png");
  t.match(await lookAt(page.bytes), { format: "png", width: 64, height: 64 });
});

t.test("[D1] every other path under /static/ is 404, and other methods are rejected", async (t) => {
  for (const path of ["", "x", "../etc/passwd", "generated/emoji/", "generated/emoji/emoji_api.json"]) {
    t.equal((await fetchPage(url, `/static/${path}`)).status, 404, path);
  }
  const { server_emoji_data_url: address } = await owner.register({ fetch_event_types: ["realm"] });
  const sent = await fetch(String(address), { method: "POST", body: "x" });
  t.equal(sent.status, 405);
  t.equal(sent.headers.get("Allow"), "GET, HEAD");
});
