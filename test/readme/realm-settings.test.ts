/**
 * schemas/realm-settings.md must match the tables in schemas/realm-settings.ts and group-settings.ts. `UPDATE_DOCS=1
 * npx tap run test/readme/realm-settings.test.ts` regenerates it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { type GroupSetting, realmGroupSettings } from "../../schemas/group-settings.ts";
import { limits } from "../../schemas/limits.ts";
import { exposedAs, type RealmSetting, realmSettingRows } from "../../schemas/realm-settings.ts";

const file = new URL("../../schemas/realm-settings.md", import.meta.url);

const heading = `# Settings and permissions of an organization

The settings that \`PATCH /realm\` accepts and \`POST /register\` returns. This page is generated from \`realm-settings.ts\` and
\`group-settings.ts\`, and checked by \`test/readme/realm-settings.test.ts\`.

## Settings

Effect \`server\`: this server acts on the setting or passes it on. Effect \`client\`: the server only stores the setting and sends
it to clients, which act on it.

| setting | values | default | changed by | effect | meaning | in /register |
|---|---|---|---|---|---|---|
`;

const permissionsHeading = `
## Permissions

Each permission is held by a group, which is a named group or a list of users and groups: \`{"new": ..., "old": ...}\`. Where any
group is allowed, the table lists the system groups among them.

| permission | default | allowed system groups | only system groups | changed by | in /register |
|---|---|---|---|---|---|
`;

interface Plain {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

/** Longer lists are shown as the number of values. */
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
  return `| \`${name}\` | ${valuesOf(row)} | ${value} | ${who} | ${row.effect} | ${row.meaning} | \`${exposedAs(name)}\` |\n`;
}

function permissionLine([name, setting]: readonly [string, GroupSetting]): string {
  const { default: first, allowedSystemGroups: allowed, requiresSystemGroup, changedBy } = setting;
  const only = requiresSystemGroup ? "yes" : "no";
  return `| \`${name}\` | \`${first}\` | ${quoted(allowed)} | ${only} | ${changedBy} | \`realm_${name}\` |\n`;
}

t.test(
  "[D5] the reference matches the table that gives schema, storage, default, event and documentation",
  async (t) => {
    const permissions = Object.entries(realmGroupSettings).map(permissionLine);
    const page = heading + realmSettingRows.map(settingLine).join("") + permissionsHeading + permissions.join("");
    if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page);
    t.equal(readFileSync(file, "utf8"), page);
  },
);

t.test("[D5] every row has a meaning of reasonable length", async (t) => {
  for (const [name, { meaning }] of realmSettingRows) t.match(meaning, /^[\w-].{5,120}$/, name);
});
