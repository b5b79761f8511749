/**
 * An administrative operation: the same work for the command line and for `POST /admin/<name>`, while the server runs
 * (as commands in the line, M7, answered after the flush, M1) and while it is stopped (on the locked data folder).
 */
import { type Static, type TObject, type TProperties, Type } from "typebox";
import type { AdminPorts } from "./ports.ts";

/** Why an operation was not done. Each kind has an exit code and an HTTP status in failures.ts. */
export type FailureKind = "refused" | "usage" | "input" | "output" | "busy" | "forbidden" | "unusable" | "internal";

/** An expected failure. The message is one line for the operator. */
export class AdminFailure extends Error {
  override readonly name = "AdminFailure";
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** @param total null if it is not known */
export type Progress = (done: number, total: number | null) => void;

export interface AdminOperation<P extends TProperties = TProperties, R extends object = object> {
  readonly name: string;
  readonly summary: string;
  readonly params: TObject<P>;
  /** @throws AdminFailure; then nothing was changed, unless the message says so */
  run(params: Static<TObject<P>>, ports: AdminPorts, progress: Progress): Promise<R>;
}

interface OperationDeclaration<P extends TProperties, R extends object> extends Omit<AdminOperation<P, R>, "params"> {
  readonly params: P;
}

export function defineOperation<P extends TProperties, R extends object>(
  declared: OperationDeclaration<P, R>,
): AdminOperation<P, R> {
  return { ...declared, params: Type.Object(declared.params, { additionalProperties: false }) };
}

/** The organization that an operation is about; the first one has the empty label. */
export const realmParam = {
  realm: Type.Optional(Type.String({ maxLength: 63, description: "label of the organization; by default the first" })),
} as const;

export const emailParam = Type.String({ minLength: 1, maxLength: 1000, description: "email address of the account" });
