/** Short notices over the page, for results and failures that have no place of their own. */
import { signal } from "@preact/signals";
import { explain, isLoggedOut } from "./api.ts";
import { endSession } from "./session.ts";

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isProblem: boolean;
  readonly action: { readonly label: string; run(): void } | null;
}

const shownMs = 8_000;
const noticesMax = 4;

export const notices = signal<readonly Notice[]>([]);
let count = 0;

export function dropNotice(id: number): void {
  notices.value = notices.peek().filter((one) => one.id !== id);
}

function show(text: string, isProblem: boolean, action: Notice["action"]): void {
  const id = ++count;
  const others = notices.peek().filter((one) => one.text !== text);
  notices.value = [...others, { id, text, isProblem, action }].slice(-noticesMax);
  setTimeout(() => dropNotice(id), shownMs);
}

export function tell(text: string, action: Notice["action"] = null): void {
  show(text, false, action);
}

/** @param what the action that failed, such as "The reaction was not added" */
export function complain(what: string, error: unknown, action: Notice["action"] = null): void {
  if (isLoggedOut(error)) endSession("Your session has ended. Log in again; what you typed is still here.");
  else show(`${what}: ${explain(error)}`, true, action);
}

/** Runs an action whose failure is reported. */
export async function attempt(what: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (error) {
    complain(what, error);
    return false;
  }
}
