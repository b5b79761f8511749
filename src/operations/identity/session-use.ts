/** Records that a session is in use, which keeps it from ending (D256). */
import { command } from "../../../actors/protocol/commands.ts";
import { limits } from "../../../schemas/limits.ts";
import type { Call } from "../calls.ts";

/** Nobody waits for the record: if it is rejected, because the disk is full or much is to do, a later use is recorded. */
export function recordUse({ realm, caller, keyHash }: Call): void {
  if (caller === null || keyHash === null) return;
  const session = realm.view.session(keyHash);
  if (session === undefined || realm.view.now - session.lastUsedAt < limits.session_use_recorded_ms) return;
  const to = { actor: "user", id: caller.id } as const;
  void realm.dispatcher.ask(command(to, "user.session.used", { hash: keyHash }, caller.id));
}
