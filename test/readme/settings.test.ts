/**
 * schemas/user-settings.md must match the table in schemas/user-settings.ts. `UPDATE_DOCS=1 npx tap run
 * test/readme/settings.test.ts` regenerates it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { type UserSettingName, userSettingRows } from "../../schemas/user-settings.ts";

const file = new URL("../../schemas/user-settings.md", import.meta.url);

const heading = `# Personal settings

The settings that \`PATCH /settings\` accepts and, where the last column says so, also \`PATCH /realm/user_settings_defaults\` for
new users. This page is generated from \`user-settings.ts\` and checked by \`test/readme/settings.test.ts\`. Effect \`server\`: this
server acts on the setting or passes it on. Effect \`client\`: the server only stores the setting and sends it to clients, which act
on it, because it concerns a screen or a device.

| setting | values | default | effect | meaning | default of the organization |
|---|---|---|---|---|---|
`;

interface Plain {
  readonly type: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Longer lists are shown as the number of values. */
const namedMax = 6;

function valuesOf(schema: Plain): string {
  if (schema.enum !== undefined && schema.enum.length > namedMax) return `one of ${schema.enum.length} names`;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(" ");
  if (schema.minimum !== undefined) return `${schema.minimum} to ${schema.maximum}`;
  return schema.type === "boolean" ? "`true` `false`" : schema.type;
}

function lineOf([name, row]: (typeof userSettingRows)[number]): string {
  const own = valuesOf(row.schema as unknown as Plain);
  const defaults = row.defaultsSchema === null ? null : valuesOf(row.defaultsSchema as unknown as Plain);
  const mayDefault = defaults === null ? "no" : defaults === own ? "yes" : `yes: ${defaults}`;
  const value = row.default === "" ? "empty" : `\`${row.default}\``;
  return `| \`${name}\` | ${own} | ${value} | ${row.effect} | ${row.meaning} | ${mayDefault} |\n`;
}

t.test("[spec 2.3] the reference matches the table of schema, storage, default, event and meaning", async (t) => {
  const page = heading + userSettingRows.map(lineOf).join("");
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page);
  t.equal(readFileSync(file, "utf8"), page);
});

t.test("[spec 2.3] every row has a meaning, and a default among its allowed values", async (t) => {
  const names = new Set<UserSettingName>();
  for (const [name, row] of userSettingRows) {
    names.add(name);
    t.match(row.meaning, /^[\w-].{5,120}$/, name);
    const { enum: choices } = row.schema as Plain;
    t.ok(choices === undefined || choices.includes(row.default), name);
  }
  t.equal(names.size, userSettingRows.length);
});
