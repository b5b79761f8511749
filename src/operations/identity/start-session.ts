/** Starts a session for a user whose password was verified (D256), for POST /session and for the pages that log in. */
import { command } from "../../../actors/protocol/commands.ts";
import type { Realm } from "../../runtime/realm.ts";
import type { Reply } from "../../runtime/results.ts";
import { hostName } from "../site.ts";
import { hashApiKey } from "./authentication.ts";
import { loginFrom } from "./logins.ts";
import type { VerifiedLogin } from "./password-login.ts";
import { programName } from "./program-name.ts";
import { newSecret } from "./secrets.ts";

/** Where the request comes from. */
export interface SessionRequest {
  /** The server's address as the client wrote it. */
  readonly siteUrl: string;
  readonly userAgent: string;
  readonly address: string;
}

interface SessionUser {
  readonly user_id: number;
  readonly email: string;
  readonly full_name: string;
}

/** @returns the user, and the token as the session of the answer */
export async function startSession(
  realm: Realm,
  { user, passwordHash }: VerifiedLogin,
  { siteUrl, userAgent, address }: SessionRequest,
): Promise<Reply<SessionUser>> {
  const token = newSecret();
  const client = programName(userAgent);
  const params = {
    hash: hashApiKey(token),
    client,
    host: hostName(siteUrl.replace(/^https?:\/\//, "")),
    login: loginFrom(client, address),
    passwordHash,
  };
  const started = await realm.dispatcher.ask(
    command({ actor: "user", id: user.id }, "user.session.start", params, user.id),
  );
  if (started.kind === "refused") return started;
  return { ...started, session: token };
}
