/** How a failed operation is reported: the kinds of failures with their exit codes (sysexits.h) and HTTP statuses. */
import { JournalDamaged } from "../../durability/journal/journal.ts";
import { RealmWithdrawn } from "../../runtime/realm-host.ts";
import { DamagedData } from "../../store/damage.ts";
import { UnknownFormat } from "../../store/migrations.ts";
import { DataFolderDamaged } from "../../store/open-data-folder.ts";
import { OwnershipLost } from "../../store/path-guard.ts";
import { DataFolderInUse } from "../../store/root.ts";
import { AdminFailure, type FailureKind } from "./operation.ts";

interface FailureCodes {
  readonly exitCode: number;
  readonly status: number;
}

/** docs/operations.md repeats the exit codes. */
export const failureCodes: Readonly<Record<FailureKind, FailureCodes>> = {
  refused: { exitCode: 1, status: 409 },
  internal: { exitCode: 1, status: 500 },
  usage: { exitCode: 64, status: 400 },
  input: { exitCode: 66, status: 422 },
  output: { exitCode: 73, status: 422 },
  busy: { exitCode: 75, status: 503 },
  forbidden: { exitCode: 77, status: 403 },
  unusable: { exitCode: 78, status: 500 },
};

const kindsOfClasses = [
  [RealmWithdrawn, "refused"],
  [DataFolderInUse, "busy"],
  [OwnershipLost, "busy"],
  [UnknownFormat, "unusable"],
  [DataFolderDamaged, "unusable"],
  [DamagedData, "unusable"],
  [JournalDamaged, "unusable"],
] as const;

const kindsOfCodes: Readonly<Record<string, FailureKind>> = {
  ENOSPC: "busy",
  EDQUOT: "busy",
  EACCES: "forbidden",
  EPERM: "forbidden",
  EROFS: "forbidden",
};

/** Refusals that a later attempt may not meet. */
const passing: ReadonlySet<string> = new Set(["STORE_REFUSES_WRITES", "OVERLOADED", "SERVER_SHUTTING_DOWN"]);

/** @returns null for a bug */
export function failureOf(error: unknown): AdminFailure | null {
  if (error instanceof AdminFailure) return error;
  const known = kindsOfClasses.find(([kind]) => error instanceof kind);
  if (known !== undefined) return new AdminFailure(known[1], oneLine((error as Error).message));
  const kind = kindsOfCodes[(error as NodeJS.ErrnoException | null)?.code ?? ""];
  return kind === undefined ? null : new AdminFailure(kind, oneLine((error as Error).message));
}

/** The failure of a command that an actor refused. */
export function refusedBy({ code, msg }: { readonly code: string; readonly msg: string }): AdminFailure {
  return new AdminFailure(passing.has(code) ? "busy" : "refused", msg);
}

export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").trim();
}
