/** One mail on its way (D31; actors/delivery.ts). Repeats are sent under the same Message-ID; a dead mail is a dead letter. */
import { deliveryMachine } from "../delivery.ts";
import { abandonMail, mailDue, mailFailed, mailSent } from "./deliveries.ts";

export const mailMachine = deliveryMachine("mail", {
  "mail.sent": mailSent,
  "mail.failed": mailFailed,
  "mail.due": mailDue,
  "mail.abandon": abandonMail,
});
