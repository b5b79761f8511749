/** Runs one operation with parameters that come from outside. */
import { Compile } from "typebox/compile";
import { AdminFailure, type AdminOperation, type Progress } from "./operation.ts";
import type { AdminPorts } from "./ports.ts";

type Check = ReturnType<typeof Compile>;

const checks = new WeakMap<AdminOperation, Check>();

/** @throws AdminFailure, or whatever failureOf() knows; anything else is a bug */
export async function execute(
  operation: AdminOperation,
  params: unknown,
  ports: AdminPorts,
  progress: Progress,
): Promise<object> {
  const known = checks.get(operation);
  const check = known ?? Compile(operation.params);
  if (known === undefined) checks.set(operation, check);
  if (check.Check(params)) return operation.run(params as Parameters<AdminOperation["run"]>[0], ports, progress);
  throw new AdminFailure("usage", `the parameters of ${operation.name} are not valid: ${faultOf(check, params)}`);
}

function faultOf(check: Check, params: unknown): string {
  const [fault] = check.Errors(params);
  if (fault === undefined) return "unknown fault";
  const { instancePath, message } = fault as { readonly instancePath: string; readonly message: string };
  return `${instancePath === "" ? "the body" : instancePath.slice(1)} ${message}`;
}
