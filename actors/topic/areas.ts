/** The decisions that each area adds to the conversation actor, by type of command. */
import { messageDeletionDecisions } from "./message-deletion.ts";
import { messageEditsDecisions } from "./message-edits.ts";
import { messageReportsDecisions } from "./message-reports.ts";
import { messagesDecisions } from "./messages.ts";
import { movesDecisions } from "./moves.ts";
import { reactionsDecisions } from "./reactions.ts";
import { renamesDecisions } from "./renames.ts";
import { scheduledDeliveryDecisions } from "./scheduled-delivery.ts";
import { submessagesDecisions } from "./submessages.ts";

export const topicAreas = [
  messageDeletionDecisions,
  messageEditsDecisions,
  messageReportsDecisions,
  messagesDecisions,
  movesDecisions,
  reactionsDecisions,
  renamesDecisions,
  scheduledDeliveryDecisions,
  submessagesDecisions,
] as const;
