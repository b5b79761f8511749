/** The decisions that each area adds to the conversation actor, by type of command. */
import { lastMessageDecisions } from "./last-message.ts";
import { messageDeletionDecisions } from "./message-deletion.ts";
import { messageEditsDecisions } from "./message-edits.ts";
import { messageReportsDecisions } from "./message-reports.ts";
import { messagesDecisions } from "./messages.ts";
import { movesDecisions } from "./moves.ts";
import { reactionsDecisions } from "./reactions.ts";
import { reminderDeliveryDecisions } from "./reminder-delivery.ts";
import { renamesDecisions } from "./renames.ts";
import { scheduledDeliveryDecisions } from "./scheduled-delivery.ts";
import { submessagesDecisions } from "./submessages.ts";

export const topicAreas = [
  lastMessageDecisions,
  messageDeletionDecisions,
  messageEditsDecisions,
  messageReportsDecisions,
  messagesDecisions,
  movesDecisions,
  reactionsDecisions,
  reminderDeliveryDecisions,
  renamesDecisions,
  scheduledDeliveryDecisions,
  submessagesDecisions,
] as const;
