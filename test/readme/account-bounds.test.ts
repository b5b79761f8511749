/**
 * docs/account-bounds.md says what one account can store, and keep in memory, in the worst case. `UPDATE_DOCS=1 npx tap
 * run test/readme/account-bounds.test.ts` regenerates it from the limits and from the longest rows.
 */
import { readFileSync, writeFileSync } from "node:fs";
import t from "tap";
import { limits } from "../../schemas/limits.ts";
import type { TableName } from "../../schemas/records.ts";
import { encodeRow } from "../../src/store/codec.ts";
import { RealmProjections } from "../../src/store/projections/realm-projections.ts";
import type { AccountBound } from "../areas/area.ts";
import { accountBounds, introduction, notBounded } from "../support/account-bounds.ts";
import { longestRow } from "../support/account-rows.ts";
import { memoryBytes } from "../support/heap.ts";

const file = new URL("../../docs/account-bounds.md", import.meta.url);

/** Tables of which every row is in memory while its organization is open. */
const projected: ReadonlySet<TableName> = new Set([
  ...(["queues", "sessions", "apiKeys", "alertWords", "profileValues"] as const),
  ...(["realmEmoji", "groups"] as const),
]);

function encodedBytes(table: TableName): number {
  const [key, row] = longestRow(table, 1) ?? [];
  if (row === undefined) throw new Error(`account-rows.ts has no row of ${table}`);
  return encodeRow(table, key as never, row as never).length + JSON.stringify(key).length;
}

/** Pages may be half empty; a row of more than 2,000 bytes takes pages of its own (pitfalls 1.5). */
function storedBytes(bytes: number): number {
  return bytes < 2000 ? 2 * (bytes + 16) : Math.ceil((bytes + 16) / 4096) * 4096 + 200;
}

/** A text is in memory up to four times: in the row, in an index, and in what a queue derives from it. */
function keptBytes(bytes: number): number {
  return 4 * bytes + 4096;
}

function diskOf({ rows: count, tables, diskBytes = 0 }: AccountBound): number {
  return diskBytes + tables.reduce((sum, table) => sum + count * storedBytes(encodedBytes(table)), 0);
}

function memoryOf({ rows: count, tables, memoryBytes: beside = 0 }: AccountBound): number {
  const kept = tables.filter((table) => projected.has(table));
  return beside + kept.reduce((sum, table) => sum + count * keptBytes(encodedBytes(table)), 0);
}

/** Rounded up to two digits. */
function shown(bytes: number): string {
  if (bytes === 0) return "";
  const [unit, size] = bytes < 2 ** 20 ? ["KiB", 2 ** 10] : ["MiB", 2 ** 20];
  const value = bytes / size;
  const step = Math.max(0.1, 10 ** (Math.floor(Math.log10(value)) - 1));
  return `${Number((Math.ceil(value / step) * step).toFixed(1)).toLocaleString("en")} ${unit}`;
}

function lineOf(bound: AccountBound): string {
  const names = bound.limits.map((name) => `\`${name}\` ${limits[name].toLocaleString("en")}`).join(", ");
  return `| ${bound.what} | ${names} | ${shown(diskOf(bound))} | ${shown(memoryOf(bound))} | \`${bound.test[0]}\` |\n`;
}

const sumOf = (of: (bound: AccountBound) => number) => accountBounds.reduce((sum, bound) => sum + of(bound), 0);

t.test("[S3] docs/account-bounds.md has the worst case of each thing that an account can store", async (t) => {
  const sum = `| **in all** | | ${shown(sumOf(diskOf))} | ${shown(sumOf(memoryOf))} | |\n`;
  const page = introduction + accountBounds.map(lineOf).join("") + sum + notBounded;
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, page);
  t.equal(readFileSync(file, "utf8"), page);
});

t.test("[S3] each worst case has a test at its bound, and each limit per account has a worst case", async (t) => {
  for (const { test, what } of accountBounds) {
    const [path, title] = test;
    t.ok(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8").includes(title), `${what}: ${title}`);
  }
  const named = new Set(accountBounds.flatMap((bound) => bound.limits));
  const perAccount = (Object.keys(limits) as (keyof typeof limits)[]).filter((name) =>
    /_per_(?:user|owner)_max$/.test(name),
  );
  const found = perAccount.filter((name) => !named.has(name));
  t.strictSame(found, []);
});

t.test("[S3] the rows of one account that are always in memory take no more than the page says", async (t) => {
  const counts = new Map(accountBounds.flatMap((bound) => bound.tables.map((table) => [table, bound.rows] as const)));
  for (const table of projected) {
    const count = counts.get(table) ?? 0;
    // As a start reads them: decoded rows share no text with each other.
    const deltas = Array.from({ length: count }, (_, index) => {
      const [key, row] = longestRow(table, index) ?? [];
      return JSON.stringify({ table, key, row });
    });
    const projections = new RealmProjections();
    const before = memoryBytes();
    for (const delta of deltas) projections.apply(JSON.parse(delta));
    const taken = memoryBytes() - before;
    const most = count * keptBytes(encodedBytes(table));
    t.ok(taken <= most, `${table}: ${taken} of ${most} bytes`);
    t.ok(projections.snapshot(), "they are kept until here");
  }
});
