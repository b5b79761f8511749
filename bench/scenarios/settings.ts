// `settings`: durable PATCH /settings that turns a boolean on and off.

import { personalScenario } from "./personal-changes.ts";

export const settings = personalScenario({
  name: "settings",
  method: "PATCH",
  path: "/settings",
  forms: [{ twenty_four_hour_time: "true" }, { twenty_four_hour_time: "false" }],
  eventType: "user_settings",
});
