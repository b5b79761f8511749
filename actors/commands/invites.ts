/** What commands about invitations carry (commands.ts). Plain data: it is stored (M3). */
import type { Role } from "../../schemas/types.ts";

/** What an invitation gives (spec 4.14). */
export interface InvitationOffer {
  /** null: it never expires. */
  readonly minutes: number | null;
  readonly role: Role;
  readonly channelIds: readonly number[];
  readonly groupIds: readonly number[];
  readonly includesDefaults: boolean;
  /** null: the organization's; "": none. */
  readonly welcomeText: string | null;
}

/** What changes about a link; what is null or absent stays. `expiry.minutes` null: it never expires. */
export interface InvitationChange {
  readonly expiry: { readonly minutes: number | null } | null;
  readonly role: Role | null;
  readonly channelIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly includesDefaults: boolean | null;
  readonly welcome: { readonly text: string | null } | null;
}

/** A key that was made for a link; `link` is the whole address. */
export interface InvitationMail {
  readonly email: string;
  readonly keyHash: string;
  readonly link: string;
}

export interface InvitesCommandParams {
  "invitation.create": InvitationOffer & { readonly key: string; readonly keyHash: string };
  "invitations.send": InvitationOffer & {
    readonly notifiesInviter: boolean;
    readonly mails: readonly InvitationMail[];
  };
  /** `email` is what was typed; an invitation of one address has its own. */
  "invitation.accept": { readonly email: string; readonly fullName: string; readonly passwordHash: string };
  /** Which kind the caller takes it for: their ids are told apart by it. */
  "invitation.revoke": { readonly isLink: boolean };
  "invitation.edit": InvitationChange;
  "invitation.resend": { readonly keyHash: string; readonly link: string };
  "invitation.expire": Record<string, never>;
  "invitation.forget": Record<string, never>;
}
