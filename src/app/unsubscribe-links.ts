/** The links in emails that switch such emails off (D258), and the secret that signs them. */
import { randomBytes } from "node:crypto";
import { command } from "../../actors/protocol/commands.ts";
import { unsubscribeKindOf, unsubscribeLink } from "../../domain/unsubscribe-links.ts";
import type { MailRecord } from "../../schemas/mails.ts";
import type { Realm } from "../runtime/realm.ts";

export function newLinkSecret(): string {
  return randomBytes(32).toString("base64url");
}

/**
 * The first email that needs a link makes the organization's secret.
 * @param site the organization's address, without a trailing slash
 * @returns null if the email has no such link: of its kind, or because the account has another address now
 * @throws Error if the secret cannot be stored now
 */
export async function unsubscribeUrl(
  realm: Realm,
  { template, to }: MailRecord,
  site: string,
  newSecret: () => string = newLinkSecret,
): Promise<string | null> {
  const kind = unsubscribeKindOf(template);
  if (kind === undefined) return null;
  if (secretOf(realm) === undefined) {
    const params = { secret: newSecret() };
    await realm.dispatcher.ask(command({ actor: "realm" }, "link-secret.set", params, null));
  }
  const secret = secretOf(realm);
  if (secret === undefined) throw new Error("the secret of links cannot be stored");
  const user = realm.view.users.byEmail(to);
  return user === undefined ? null : unsubscribeLink(secret, site, { kind, user });
}

function secretOf({ view }: Realm): string | undefined {
  return view.row("linkSecrets", "unsubscribe")?.secret;
}
