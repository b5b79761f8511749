/**
 * Links to topics and messages that the notification bot writes: notices of moves, reminders (behaviour 5.8; public
 * API).
 */
import { type DefaultTreeAdapterTypes, parseFragment } from "parse5";
import t from "tap";
import type { Client, Event } from "../support/client.ts";
import { startTestServer } from "../support/server.ts";

const server = await startTestServer(t);
const { owner } = server;
const channel = "a (b) ~~c~~";
const channelId = await owner.createChannel(channel, [owner]);

/** Topic names with characters that are special in Markdown or in URLs. */
const names = [
  ...["why :(", "x ) y", "((", "[b](c)", "it's ok!", "a *b* **c**", "`q`", "> ?", "$$x$$", "a & b &amp; c"],
  ...["~~gone~~", ":smile: :tada:", "meet@12", "a/b?c#d%e.f", "<time:2020-01-01>", "@**all**", "plain", "\u00e9\u00fc"],
];

interface Link {
  readonly text: string;
  readonly href: string;
}

function textOf(node: DefaultTreeAdapterTypes.ChildNode): string {
  if ("value" in node) return node.value;
  return "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
}

function linksIn(node: DefaultTreeAdapterTypes.ParentNode): Link[] {
  return node.childNodes.flatMap((child): Link[] => {
    if (!("tagName" in child)) return [];
    const href = child.attrs.find(({ name }) => name === "href")?.value;
    return child.tagName === "a" ? [{ text: textOf(child), href: href ?? "" }] : linksIn(child);
  });
}

/** Parses a link as clients do: its segments, with a period in place of the percent sign. */
function partsOf(href: string): string[] {
  const [, ...parts] = href.replace(/^\//, "").split("/");
  return parts.map((part) => decodeURIComponent(part.replaceAll(".", "%")));
}

const say = async (topic: string): Promise<number> =>
  (await owner.post("/messages", { type: "channel", to: channelId, topic, content: "words" })).body.id;

async function newest(client: Client, topic: string): Promise<Event> {
  const narrow = [
    { operator: "channel", operand: channelId },
    { operator: "topic", operand: topic },
  ];
  return (await client.get("/messages", { anchor: "newest", num_before: 1, num_after: 0, narrow })).body.messages[0];
}

t.test("[behaviour 5.8] notices of a move link to both topics, whatever characters their names contain", async (t) => {
  for (const name of names) {
    const [stays, moves] = [await say("from here"), await say("from here")];
    const both = { send_notification_to_old_thread: true, send_notification_to_new_thread: true };
    await owner.patch(`/messages/${moves}`, { topic: name, ...both });
    const [there, here] = [await newest(owner, name), await newest(owner, "from here")];
    t.equal(there.sender_id, 1, name);
    t.ok(here.id > stays && here.sender_id === 1, name);
    const [message] = linksIn(parseFragment(there.content));
    t.equal(message?.text, "A message", name);
    t.strictSame(partsOf(message?.href ?? "").slice(2, 6), ["topic", name, "near", String(moves)], name);
    const [place, ...others] = linksIn(parseFragment(here.content));
    t.strictSame([place?.text, others], [`#${channel} > ${name}`, []], name);
    t.strictSame(partsOf(place?.href ?? "").slice(2, 4), ["topic", name], name);
  }
});

t.test("a reminder links to its message, whatever the name of the topic", async (t) => {
  for (const name of names) {
    const id = await say(name);
    const made = await owner.post("/reminders", { message_id: id, scheduled_delivery_timestamp: 4_000_000_000 });
    const all: Event[] = (await owner.get("/reminders")).body.reminders;
    const reminder = all.find(({ reminder_id }) => reminder_id === made.body.reminder_id);
    const [link, ...others] = linksIn(parseFragment(reminder.rendered_content));
    t.strictSame([link?.text, others], [`#${channel} > ${name}`, []], name);
    t.strictSame(partsOf(link?.href ?? "").slice(2), ["topic", name, "near", String(id)], name);
  }
});
