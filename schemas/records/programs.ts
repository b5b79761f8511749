/** Durable shapes of what programs keep on the server. The rules of `schemas/records.ts` hold. */

export interface BotStorageRecord {
  readonly key: string;
  readonly value: string;
}

/** Sums over one account's rows of `botStorage`. */
export interface BotStorageUseRecord {
  readonly entries: number;
  readonly codePoints: number;
}

export interface ProgramTables {
  /** By the SHA-256 of the entry's key, which may be longer than a key of the store. */
  botStorage: { key: readonly [userId: number, entryHash: string]; row: BotStorageRecord };
  botStorageUse: { key: number; row: BotStorageUseRecord };
}

export const programRowFields = {
  botStorage: ["key", "value"],
  botStorageUse: ["entries", "codePoints"],
} as const satisfies { readonly [T in keyof ProgramTables]: readonly (keyof ProgramTables[T]["row"] & string)[] };
