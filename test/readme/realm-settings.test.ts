/**
 * The reference of an organization's settings, schemas/realm-settings.md, is what the tables say (schemas/realm-settings.ts,
 * group-settings.ts). `UPDATE_DOCS=1 npx tap run test/readme/realm-settings.test.ts` writes it anew.
 */
import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { type GroupSetting, realmGroupSettings } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import { publishedAs, type RealmSetting, realmSettingRows } from "../../schemas/realm-settings.ts";

const file = new URL("../../schemas/realm-settings.md", import.meta.url);

const heading = `# Settings and permissions of an organization

What \`PATCH /realm\` takes and \`POST /register\` publishes. This page is made from \`realm-settings.ts\` and
\`group-settings.ts\`, and checked by \`test/readme/realm-settings.test.ts\`.

## Settings

Effect: \`server\`: this server acts on it, or hands it to others; \`client\`: it is kept, and clients are told, because nothing in
this server depends on it.

| setting | values | until set | who changes it | effect | meaning | in /register |
|---|---|---|---|---|---|---|
`;

const permissionsHeading = `
## Permissions

Each is held by a group, named or made of people and groups: \`{"new": ..., "old": ...}\`. Where any group may hold it, the system
groups among them are those listed.

| permission | until set | system groups that may hold it | only system groups | who changes it | in /register |
|---|---|---|---|---|---|
`;

interface Plain {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** Long lists are told by their number. */
const namedMax = 13;

function quoted(values: readonly unknown[]): string {
  return values.map((value) => `\`${value}\``).join(" ");
}

const ofKind: Readonly<Partial<Record<RealmSetting["kind"], string>>> = {
  "days-or-seconds": `1 to ${limits.setting_days_or_seconds_max}`,
  channel: "id of a channel, -1: none",
  "private-channel": "id of a private channel, -1: none",
};

function valuesOf({ schema, kind, words }: RealmSetting): string {
  if (schema === null) return "fixed";
  return [ofKind[kind] ?? plainValues(schema as Plain), quoted(Object.keys(words))]
    .filter((part) => part !== "")
    .join(", ");
}

function plainValues(schema: Plain): string {
  if (schema.enum !== undefined && schema.enum.length > namedMax) return `one of ${schema.enum.length} names`;
  if (schema.enum !== undefined) return quoted(schema.enum);
  if (schema.type === "boolean") return quoted([true, false]);
  return schema.minimum === undefined ? `text up to ${schema.maxLength}` : `${schema.minimum} to ${schema.maximum}`;
}

function settingLine([name, row]: (typeof realmSettingRows)[number]): string {
  const value = row.default === "" ? "empty" : `\`${row.default}\``;
  const who = row.schema === null ? "nobody" : row.changedBy;
  return `| \`${name}\` | ${valuesOf(row)} | ${value} | ${who} | ${row.effect} | ${row.meaning} | \`${publishedAs(name)}\` |\n`;
}

function permissionLine([name, setting]: readonly [string, GroupSetting]): string {
  const { default: first, allowedSystemGroups: allowed, requiresSystemGroup, changedBy } = setting;
  const only = requiresSystemGroup ? "yes" : "no";
  return `| \`${name}\` | \`${first}\` | ${quoted(allowed)} | ${only} | ${changedBy} | \`realm_${name}\` |\n`;
}

t.test("[issue 4] one table gives schema, storage, default, event and documentation", (t) => {
  const permissions = Object.entries(realmGroupSettings).map(permissionLine);
  const page = heading + realmSettingRows.map(settingLine).join("") + permissionsHeading + permissions.join("");
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page);
  t.equal(readFileSync(file, "utf8"), page);
  t.end();
});

t.test("[D5] every row says what it is for", (t) => {
  for (const [name, { meaning }] of realmSettingRows) t.match(meaning, /^[\w-].{5,120}$/, name);
  t.end();
});
