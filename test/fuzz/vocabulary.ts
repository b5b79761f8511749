/**
 * What a client would really say, by the name of a parameter or field: a fuzz that only talks nonsense never gets past the first
 * check. Ids are small, so that they often mean something that is there.
 */
import fc from "fast-check";
import { type Plain, valid } from "../support/schema-values.ts";

/** Replaced by the caller's own when the request is written. */
export const ownQueue = "{own queue}";

const operators =
  "channel stream topic dm dm-including pm-with group-pm-with sender is has near id search with channels in not".split(
    " ",
  );

const words: Readonly<Record<string, readonly string[]>> = {
  operator: operators,
  operand: ["general", "1", "unread", "starred", "image", "general chat", "first", "public", "owner@localhost"],
  type: ["channel", "stream", "direct", "private", "start", "stop"],
  op: ["add", "remove", "start", "stop"],
  flag: ["read", "starred", "mentioned", "collapsed", "has_alert_word"],
  queue_id: [ownQueue],
  anchor: ["newest", "oldest", "first_unread", "1", "5", "date"],
  anchor_date: ["2026-11-22T10:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z"],
  email: ["owner@localhost", "member0@example.com", "x@y.z", '"a b"@example.com', "a@[::1]"],
  username: ["owner@localhost", "member0@example.com"],
  user_id_or_email: ["2", "me", "owner@localhost"],
  invitee_emails: ["a@example.com, b@example.com", "a@example.com\nb@example.com", "owner@localhost"],
  emoji_name: ["smile", "+1", "heart", "zulip", "new one"],
  emoji_code: ["1f642", "1f44d", "zulip", "1"],
  reaction_type: ["unicode_emoji", "realm_emoji", "zulip_extra_emoji"],
  propagate_mode: ["change_one", "change_later", "change_all"],
  date: ["2026-11-22", "2026-02-30", "0000-00-00"],
  timezone: ["Europe/Berlin", "UTC", "Mars/North"],
  status: ["active", "idle", "x"],
  payload_url: ["http://127.0.0.1:9/", "https://example.org/hook", "ftp://x", "http://[::ffff:7f00:1]/"],
  service_payload_url: ["http://127.0.0.1:9/", "https://example.org/hook"],
  pattern: ["#(?P<id>[0-9]+)", "(a+)+$", "[", "(?P<x>.*)*"],
  url_template: ["https://example.org/{id}", "https://example.org/{x", "javascript:{id}"],
  event_types: ["message", "realm_user", "subscription", "presence", "*"],
  fetch_event_types: ["message", "realm_user", "subscription", "presence", "*"],
  local_id: ["1", "a.b"],
  fragment: ["narrow/is/starred", "inbox", "recent"],
};

/** Texts of messages, topics and names: Markdown that nests, mentions that match, letters that surprise. */
const texts: readonly string[] = [
  "general",
  "a topic",
  "",
  "(no topic)",
  "✔ done",
  "**bold** @**all** @_**member 0|3** @*role:members* #**general** #**general>a topic** :smile:",
  "```spoiler x\n~~~ math\n$$\\frac{1}{0}$$\n",
  "> > > > quote\n1. one\n   * two\n\n| a | b |\n|--|--|\n| c |",
  "[x](javascript:alert(1)) <script>alert(1)</script> ![i](/user_uploads/1/ab/cd.png)",
  "<time:2026-11-22T10:00:00Z> /me /poll q\na\nb",
  "\u202e\u200b\u0301\u{1f469}\u200d\u{1f469}\ud83d\ude00",
  "a\u0000b\r\n\t\u0007",
  "İıſßﬀ",
  "__proto__",
  "constructor",
  "%s %n ' \" ; -- \\",
  `${"[".repeat(200)}x${"](".repeat(200)}`,
  `${"*_".repeat(300)}`,
  `${"> ".repeat(120)}deep`,
];

function likelyText(schema: Plain, name: string): fc.Arbitrary<unknown> {
  const known = words[name];
  const general = fc.constantFrom(...texts, "x".repeat(Math.min(schema.maxLength ?? 60, 10_000)));
  return known === undefined ? general : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...known) }, general);
}

/** Of what the crew has made there are about so many. */
const smallMax = 12;

/** A value that fits and means something. */
export function likely(schema: Plain, name: string): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((inner) => likely(inner, name)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === "string") return likelyText(schema, name);
  if (schema.type === "integer") {
    const least = schema.minimum ?? 0;
    const most = Math.max(least, Math.min(schema.maximum ?? smallMax, smallMax));
    return fc.integer({ min: Math.min(least + 1, most), max: most });
  }
  if (schema.type === "array") {
    const minLength = schema.minItems ?? 0;
    return fc.array(likely(schema.items ?? {}, name), {
      minLength,
      maxLength: Math.min(schema.maxItems ?? 3, minLength + 3),
    });
  }
  const fields = Object.entries(schema.properties ?? {});
  if (schema.type !== "object" || fields.length === 0) return valid(schema);
  return fc.record(
    Object.fromEntries(fields.map(([field, inner]) => [field, likely(inner, field === "name" ? "topic" : field)])),
    { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true },
  );
}
