/** The decisions that each area adds to the realm actor, by type of command. */
import { attachmentsDecisions } from "./attachments.ts";
import { botChangesDecisions } from "./bot-changes.ts";
import { botsDecisions } from "./bots.ts";
import { channelActivityDecisions } from "./channel-activity.ts";
import { channelChangesDecisions } from "./channel-changes.ts";
import { channelFoldersDecisions } from "./channel-folders.ts";
import { channelsDecisions } from "./channels.ts";
import { continuationsDecisions } from "./continuations.ts";
import { deadLettersDecisions } from "./dead-letters.ts";
import { emailChangeDecisions } from "./email-change.ts";
import { emojiDecisions } from "./emoji.ts";
import { groupMembersDecisions } from "./group-members.ts";
import { groupsDecisions } from "./groups.ts";
import { invitesDecisions } from "./invites.ts";
import { linkifiersDecisions } from "./linkifiers.ts";
import { membershipDecisions } from "./membership.ts";
import { passwordResetDecisions } from "./password-reset.ts";
import { playgroundsDecisions } from "./playgrounds.ts";
import { profileFieldsDecisions } from "./profile-fields.ts";
import { profileValuesDecisions } from "./profile-values.ts";
import { realmDeactivationDecisions } from "./realm-deactivation.ts";
import { realmDomainsDecisions } from "./realm-domains.ts";
import { realmPicturesDecisions } from "./realm-pictures.ts";
import { realmSettingsDecisions } from "./realm-settings.ts";
import { searchDecisions } from "./search.ts";
import { settingsDefaultsDecisions } from "./settings-defaults.ts";
import { setupDecisions } from "./setup.ts";
import { subscriptionsDecisions } from "./subscriptions.ts";
import { unsubscribesDecisions } from "./unsubscribes.ts";
import { userDeactivationDecisions } from "./user-deactivation.ts";
import { userUpdatesDecisions } from "./user-updates.ts";
import { usersDecisions } from "./users.ts";
import { waitingPeriodDecisions } from "./waiting-period.ts";

export const realmAreas = [
  attachmentsDecisions,
  botChangesDecisions,
  botsDecisions,
  channelActivityDecisions,
  channelChangesDecisions,
  channelFoldersDecisions,
  channelsDecisions,
  continuationsDecisions,
  deadLettersDecisions,
  emailChangeDecisions,
  emojiDecisions,
  groupMembersDecisions,
  groupsDecisions,
  invitesDecisions,
  linkifiersDecisions,
  membershipDecisions,
  passwordResetDecisions,
  playgroundsDecisions,
  profileFieldsDecisions,
  profileValuesDecisions,
  realmDeactivationDecisions,
  realmDomainsDecisions,
  realmPicturesDecisions,
  realmSettingsDecisions,
  searchDecisions,
  settingsDefaultsDecisions,
  setupDecisions,
  subscriptionsDecisions,
  unsubscribesDecisions,
  userDeactivationDecisions,
  userUpdatesDecisions,
  usersDecisions,
  waitingPeriodDecisions,
] as const;
