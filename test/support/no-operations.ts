/** Sockets that request no operations. */
import { Router } from "../../src/edge/http/router.ts";
import { RequestReader } from "../../src/edge/realtime/socket-operations.ts";
import { RequestCounter } from "../../src/metrics/instruments.ts";
import type { OperationExecutor } from "../../src/operations/execution/operation-executor.ts";

export function noOperations(): { readonly executor: OperationExecutor; readonly requests: RequestReader } {
  const executor: OperationExecutor = {
    operations: [],
    requests: new RequestCounter(["none"]),
    execute: () => {
      throw new Error("no operation can be requested");
    },
  };
  return { executor, requests: new RequestReader(executor, new Router([])) };
}
