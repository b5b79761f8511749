/**
 * Realistic values by the name of a parameter or field. Random values alone would never pass the first check. Ids are
 * small, so that they often exist.
 */
import fc from "fast-check";
import { type Plain, valid } from "../support/schema-values.ts";

/** The password of the owner and of every user that the fuzz creates. */
export const knownPassword = "correct horse battery";

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
  anchor: ["newest", "oldest", "first_unread", "1", "5", "date"],
  anchor_date: ["2026-11-22T10:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z"],
  email: ["owner@localhost", "member0@example.com", "x@y.z", '"a b"@example.com', "a@[::1]"],
  username: ["owner@localhost", "member0@example.com"],
  user_id_or_email: ["2", "me", "owner@localhost"],
  password: [knownPassword],
  old_password: [knownPassword],
  new_password: [knownPassword],
  invitee_emails: [
    "a@example.com, b@example.com",
    "a@example.com\nb@example.com",
    "owner@localhost",
    ...Array.from({ length: 60 }, (_, index) => `guest${index}@example.com`),
  ],
  emoji_name: ["smile", "+1", "heart", "zulip", "new one"],
  emoji_code: ["1f642", "1f44d", "zulip", "1"],
  reaction_type: ["unicode_emoji", "realm_emoji", "zulip_extra_emoji"],
  propagate_mode: ["change_one", "change_later", "change_all"],
  date: ["2026-11-22", "2026-02-30", "0000-00-00"],
  topic_name: ["a topic", "general"],
  topic: ["a topic", "general"],
  color: ["#c2c2c2", "#76ce90", "blue"],
  timezone: ["Europe/Berlin", "UTC", "Mars/North"],
  status: ["active", "idle", "x"],
  payload_url: ["http://127.0.0.1:9/", "https://example.org/hook", "ftp://x", "http://[::ffff:7f00:1]/"],
  service_payload_url: ["http://127.0.0.1:9/", "https://example.org/hook"],
  pattern: ["#(?P<id>[0-9]+)", "T(?P<id>[0-9]+)", "U(?P<id>[0-9]+)", "(a+)+$", "[", "(?P<x>.*)*"],
  url_template: [
    "https://example.org/{id}",
    "https://example.org/?c={code}",
    "https://example.org/{x",
    "javascript:{id}",
  ],
  pygments_language: ["Python", "JavaScript", "C++", "x y"],
  event_types: ["message", "realm_user", "subscription", "presence", "*"],
  fetch_event_types: ["message", "realm_user", "subscription", "presence", "*"],
  local_id: ["1", "a.b"],
  token: ["abcd", "efgh", "not base64!"],
  domain: ["example.org", "chat.example.org", "a.example", "nodot", "-x.org"],
  fragment: ["narrow/is/starred", "inbox", "recent"],
};

/** Names that have another meaning in one operation. */
const wordsOfOperations: Readonly<Record<string, readonly string[]>> = {
  "add-submessage content": ['{"type":"vote","key":"canned,0","vote":1}', '{"type":"new_option","option":"c","idx":1}'],
};

const numbers: Readonly<Record<string, readonly number[]>> = {
  // Far in the future, so that nothing is due during the fuzz.
  scheduled_delivery_timestamp: [4_102_444_800, 4_102_448_400],
  timestamp: [1_700_000_000],
  stream_id: [1, 2, 3, 4, 5],
  field_type: [1, 2, 4, 5, 6, 8],
};

/** Texts of messages, topics and names: nested Markdown, matching mentions, unusual characters. */
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

/** The crew creates about this many of each. */
const smallMax = 12;

/** A value that fits and is meaningful to the operation. */
export function likelyFor(operationId: string, schema: Plain, name: string): fc.Arbitrary<unknown> {
  const known = wordsOfOperations[`${operationId} ${name}`];
  return known === undefined ? likely(schema, name) : fc.constantFrom(...known);
}

/** A value that fits and is meaningful. */
export function likely(schema: Plain, name: string): fc.Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((inner) => likely(inner, name)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === "string") return likelyText(schema, name);
  const known = numbers[name];
  if (known !== undefined && schema.type !== "boolean") return fc.constantFrom(...known);
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

/** Names, codes and types of emoji that match. */
const emoji: readonly Readonly<Record<string, string>>[] = [
  { emoji_name: "smile", emoji_code: "1f642", reaction_type: "unicode_emoji" },
  { emoji_name: "heart", emoji_code: "2764", reaction_type: "unicode_emoji" },
  { emoji_name: "zulip", emoji_code: "zulip", reaction_type: "zulip_extra_emoji" },
];

/** Mostly makes all fields that identify an emoji agree. @param chance any number */
export function agreeing(fields: readonly (readonly [string, string])[], chance: number) {
  const isMeant = chance % 4 !== 0;
  const meant = emoji[[0, 0, 0, 1, 2][chance % 5] ?? 0];
  return fields.map(([name, value]) => [name, (isMeant ? meant?.[name] : undefined) ?? value] as const);
}
