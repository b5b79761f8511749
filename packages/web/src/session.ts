/** Who is logged in. The session is a cookie that scripts cannot read: the page only knows whether it is accepted. */
import { signal } from "@preact/signals";
import { ApiError, explain, request } from "./api.ts";

export interface SessionUser {
  readonly user_id: number;
  readonly email: string;
  readonly full_name: string;
}

export type Session =
  | { readonly state: "unknown" }
  | { readonly state: "in"; readonly user: SessionUser }
  /** `notice`: why it ended, if the person did not log out. */
  | { readonly state: "out"; readonly notice: string | null };

export const session = signal<Session>({ state: "unknown" });

/** Why a session that the browser still has is not accepted. */
const ends: Readonly<Record<string, string>> = {
  UNAUTHORIZED: "Your session has ended. Log in again.",
  USER_DEACTIVATED: "This account has been deactivated. Ask an administrator.",
  REALM_DEACTIVATED: "This organization has been deactivated.",
};

/** @throws Error if the server does not answer */
export async function readSession(): Promise<void> {
  try {
    const user = await request("GET", "/session");
    const isIn = typeof user["user_id"] === "number";
    session.value = isIn ? { state: "in", user: user as unknown as SessionUser } : { state: "out", notice: null };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    session.value = { state: "out", notice: ends[error.code] ?? explain(error) };
  }
}

/** @throws ApiError if the server rejects the password */
export async function logIn(address: string, password: string): Promise<void> {
  const user = await request("POST", "/session", new URLSearchParams({ username: address, password }));
  session.value = { state: "in", user: user as unknown as SessionUser };
}

export async function logOut(): Promise<void> {
  await request("DELETE", "/session");
  session.value = { state: "out", notice: null };
}

/** The server does not accept the session any more. */
export function endSession(notice: string): void {
  if (session.value.state === "in") session.value = { state: "out", notice };
}
