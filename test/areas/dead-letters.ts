/** Dead letters in the tests that cover every area. A retried delivery is not what the auditor of the simulation expects. */
import { defineCases } from "./area.ts";

export const deadLettersCases = defineCases({
  draws: { "dead-letter.retry": null, "dead-letter.drop": null },
});
