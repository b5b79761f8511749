/** Finds in an archive what a restore to a moment starts from, or says which moments there are. */

import { requireMark } from "../../store/migrations.ts";
import { refuseLinks } from "../../store/restore.ts";
import type { RecordNumber } from "../journal/journal.ts";
import { timeOf } from "../journal/record.ts";
import { type Base, type BaseRealm, readBases } from "./base-manifest.ts";
import {
  type ArchiveIdentity,
  type ErasedNote,
  type GenerationStart,
  identityFile,
  listGenerations,
  listRecords,
  readErased,
  readJson,
  startFile,
} from "./layout.ts";
import { ArchiveDamaged, lastWithoutGap, readRecords, validFiles } from "./record-reader.ts";

/** Milliseconds since 1970, or the last moment that there is. */
export type RestoreTime = number | "latest";

const zoned = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** @returns null if the text is no time; a time without a zone could mean two */
export function parseRestoreTime(text: string): RestoreTime | null {
  if (text === "latest") return text;
  const isSeconds = /^\d{1,11}(?:\.\d{1,3})?$/.test(text);
  const time = isSeconds ? Math.round(Number(text) * 1000) : zoned.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

/** An organization, and the base that its store is copied from. */
export interface RestoredRealm {
  readonly realm: BaseRealm;
  readonly base: Base;
}

export interface RestorePlan {
  readonly generation: number;
  readonly realms: readonly RestoredRealm[];
  /** Has the credentials. */
  readonly newest: Base;
  /** The stores of the bases have all records up to here. */
  readonly from: RecordNumber;
  /** A store of a base may have records up to here, so all of them are needed. */
  readonly upTo: RecordNumber;
  /** The store version of the program that wrote the records. */
  readonly storeVersion: number;
  /** All bases of the generation. */
  readonly bases: readonly Base[];
  /** Organizations that did not exist any more at the moment. */
  readonly erased: readonly ErasedNote[];
}

/** A generation that times can be restored from. */
interface Span {
  readonly generation: number;
  /** Those whose records are there. */
  readonly bases: readonly Base[];
  /** The first moment. */
  readonly first: number;
}

/** @throws ArchiveDamaged when there is no such moment, with those that there are; UnknownFormat */
export function planRestore(archive: string, time: RestoreTime): RestorePlan {
  const identity = readJson(identityFile(archive)) as ArchiveIdentity | undefined;
  if (identity === undefined) throw new ArchiveDamaged(`${archive} is not an archive.`);
  requireMark(archive, identity.format);
  refuseLinks(archive);
  const spans = listGenerations(archive).flatMap((generation) => spanOf(archive, generation) ?? []);
  const moment = time === "latest" ? Number.POSITIVE_INFINITY : time;
  const span = spans.findLast(({ first }) => first <= moment);
  if (span === undefined || (time !== "latest" && time > lastMoment(archive, span))) {
    throw new ArchiveDamaged(outOfRange(archive, time, spans));
  }
  const { generation, bases } = span;
  const whole = bases.findLast(({ isWhole, at }) => isWhole && at <= moment) as Base;
  const erased = readErased(archive).filter(({ at }) => at <= moment);
  const realms = new Map<number, RestoredRealm>();
  for (const base of bases) {
    if (base.number < whole.number || base.at > moment) continue;
    for (const realm of base.realms) realms.set(realm.id, { realm, base });
  }
  for (const { id } of erased) realms.delete(id);
  const used = [...realms.values()].map(({ base }) => base);
  return {
    generation,
    bases,
    erased,
    realms: [...realms.values()],
    newest: used.reduce((newest, base) => (base.number > newest.number ? base : newest), whole),
    from: Math.min(...used.map(({ from }) => from)),
    upTo: Math.max(...used.map(({ upTo }) => upTo)),
    storeVersion: (readJson(startFile(archive, generation)) as GenerationStart).storeVersion,
  };
}

function spanOf(archive: string, generation: number): Span | null {
  const files = validFiles(listRecords(archive, generation));
  const bases = readBases(archive, generation).filter(({ from, upTo }) => lastWithoutGap(files, from + 1) >= upTo);
  const first = bases.find(({ isWhole }) => isWhole);
  return first === undefined ? null : { generation, bases, first: first.at };
}

/**
 * The time of the last record, or of the last base if that is later.
 * @throws ArchiveDamaged when the last file is damaged
 */
function lastMoment(archive: string, { generation, bases }: Span): number {
  const file = listRecords(archive, generation).at(-1);
  const record = file === undefined ? undefined : readRecords(file)?.at(-1);
  return Math.max(bases.at(-1)?.at ?? 0, record === undefined ? 0 : timeOf(record.bytes));
}

function outOfRange(archive: string, time: RestoreTime, spans: readonly Span[]): string {
  if (spans.length === 0) return `${archive} can bring nothing back yet: its first base is not complete.`;
  const wanted = time === "latest" ? time : new Date(time).toISOString();
  const ranges = spans.map((span) => `${new Date(span.first).toISOString()} to ${endOf(archive, span)}`);
  return `${archive} cannot bring back ${wanted}. It can bring back ${ranges.join(", and ")}.`;
}

function endOf(archive: string, span: Span): string {
  try {
    return new Date(lastMoment(archive, span)).toISOString();
  } catch (error) {
    if (error instanceof ArchiveDamaged) return `a damaged file, ${listRecords(archive, span.generation).at(-1)?.path}`;
    throw error;
  }
}
