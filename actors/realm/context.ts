/**
 * The context of the realm actor. Its collections are stored in tables; the context contains only what determines the
 * state.
 */
export interface RealmContext {
  readonly phase: "uninitialized" | "open" | "deactivated";
}

interface Seen {
  readonly context: RealmContext;
}

export const isOpen = ({ context }: Seen) => context.phase === "open";
export const isDeactivated = ({ context }: Seen) => context.phase === "deactivated";
