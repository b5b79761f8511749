// `status`: durable POST /users/me/status, each time with another text.

import { MARKER } from "../lib/http-request.ts";
import { personalScenario } from "./personal-changes.ts";

export const status = personalScenario({
  name: "status",
  method: "POST",
  path: "/users/me/status",
  forms: [{ status_text: `${MARKER} in a meeting` }],
  eventType: "user_status",
});
