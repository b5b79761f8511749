/** The cases of all areas, in one list, for the tests that cover every area. */
import type { AllOf } from "../../schemas/area.ts";
import { alertWordsCases } from "./alert-words.ts";
import type { Cases } from "./area.ts";
import { attachmentsCases } from "./attachments.ts";
import { authenticationCases } from "./authentication.ts";
import { avatarsCases } from "./avatars.ts";
import { botStorageCases } from "./bot-storage.ts";
import { botsCases } from "./bots.ts";
import { channelFoldersCases } from "./channel-folders.ts";
import { channelsCases } from "./channels.ts";
import { deadLettersCases } from "./dead-letters.ts";
import { defaultChannelsCases } from "./default-channels.ts";
import { draftsCases } from "./drafts.ts";
import { emailChangeCases } from "./email-change.ts";
import { emojiCases } from "./emoji.ts";
import { invitesCases } from "./invites.ts";
import { linkifiersCases } from "./linkifiers.ts";
import { mailsCases } from "./mails.ts";
import { messageChangesCases } from "./message-changes.ts";
import { messageFlagsCases } from "./message-flags.ts";
import { messageReportsCases } from "./message-reports.ts";
import { messagesCases } from "./messages.ts";
import { missedMessagesCases } from "./missed-messages.ts";
import { mutedUsersCases } from "./muted-users.ts";
import { passwordResetCases } from "./password-reset.ts";
import { type PersonalListDraws, personalListCases } from "./personal-lists.ts";
import { playgroundsCases } from "./playgrounds.ts";
import { presenceCases } from "./presence.ts";
import { profileFieldsCases } from "./profile-fields.ts";
import { pushDevicesCases } from "./push-devices.ts";
import { queuesCases } from "./queues.ts";
import { reactionsCases } from "./reactions.ts";
import { readStateCases } from "./read-state.ts";
import { realmDeactivationCases } from "./realm-deactivation.ts";
import { realmDomainsCases } from "./realm-domains.ts";
import { realmPicturesCases } from "./realm-pictures.ts";
import { realmSettingsCases } from "./realm-settings.ts";
import { remindersCases } from "./reminders.ts";
import { retentionCases } from "./retention.ts";
import { scheduledMessagesCases } from "./scheduled-messages.ts";
import { searchCases } from "./search.ts";
import { serverCases } from "./server.ts";
import { sessionsCases } from "./sessions.ts";
import { settingsCases } from "./settings.ts";
import { setupCases } from "./setup.ts";
import { statusCases } from "./status.ts";
import { submessagesCases } from "./submessages.ts";
import { subscriptionsCases } from "./subscriptions.ts";
import { unsubscribesCases } from "./unsubscribes.ts";
import { usageCases } from "./usage.ts";
import { userGroupsCases } from "./user-groups.ts";
import { userTopicsCases } from "./user-topics.ts";
import { usersCases } from "./users.ts";
import { webhooksCases } from "./webhooks.ts";
import { welcomeTestsCases } from "./welcome-tests.ts";

const declared = [
  alertWordsCases,
  attachmentsCases,
  authenticationCases,
  avatarsCases,
  botStorageCases,
  botsCases,
  channelFoldersCases,
  channelsCases,
  deadLettersCases,
  defaultChannelsCases,
  draftsCases,
  emailChangeCases,
  emojiCases,
  invitesCases,
  linkifiersCases,
  mailsCases,
  messageChangesCases,
  messageFlagsCases,
  messageReportsCases,
  messagesCases,
  missedMessagesCases,
  mutedUsersCases,
  passwordResetCases,
  playgroundsCases,
  presenceCases,
  profileFieldsCases,
  pushDevicesCases,
  queuesCases,
  reactionsCases,
  readStateCases,
  realmDeactivationCases,
  realmDomainsCases,
  realmPicturesCases,
  realmSettingsCases,
  remindersCases,
  retentionCases,
  scheduledMessagesCases,
  searchCases,
  serverCases,
  sessionsCases,
  settingsCases,
  setupCases,
  statusCases,
  submessagesCases,
  subscriptionsCases,
  unsubscribesCases,
  usageCases,
  userGroupsCases,
  userTopicsCases,
  usersCases,
  webhooksCases,
  welcomeTestsCases,
] as const;

export const areaCases: readonly Cases[] = [...declared, ...personalListCases];

/** The simulation's draws of all areas, with their types: a command without one does not compile (test/sim). */
export type AllDraws = AllOf<(typeof declared)[number], "draws"> & PersonalListDraws;

/**
 * One property of all areas, merged.
 * @throws Error if two areas have the same name
 */
export function merged<V>(
  pick: (cases: Cases) => Readonly<Record<string, V>> | undefined,
): Readonly<Record<string, V>> {
  const entries = areaCases.flatMap((cases) => Object.entries(pick(cases) ?? {}));
  const names = entries.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two areas have cases for ${twice}`);
  return Object.fromEntries(entries);
}
