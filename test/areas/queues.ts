/** Queues in the tests that cover every area. */
import { defineCases } from "./area.ts";

export const queuesCases = defineCases({
  audiences: {
    accounts: ["register-queue", "get-events", "delete-queue"],
  },
  fuzz: {
    things: ["queue"],
    meanings: {
      queue_id: "queue",
    },
  },
  draws: {
    "queue.register": null,
    "queue.delete": null,
  },
});
