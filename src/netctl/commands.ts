/** All commands, in the order of the help. */
import type { Command } from './command.ts';
import { capture } from './commands/capture.ts';
import { check } from './commands/check.ts';
import { completion } from './commands/completion.ts';
import { connectivity } from './commands/connectivity.ts';
import { encryption } from './commands/encryption.ts';
import { events } from './commands/events.ts';
import { flows } from './commands/flows.ts';
import { ipam } from './commands/ipam.ts';
import { nodes } from './commands/nodes.ts';
import { plan } from './commands/plan.ts';
import { pods } from './commands/pods.ts';
import { policies } from './commands/policies.ts';
import { report } from './commands/report.ts';
import { services } from './commands/services.ts';
import { status } from './commands/status.ts';
import { test } from './commands/test.ts';
import { trace } from './commands/trace.ts';
import { undeploy } from './commands/undeploy.ts';
import { version } from './commands/version.ts';
import { vppcli } from './commands/vppcli.ts';
import { vppdump } from './commands/vppdump.ts';

export const commands: readonly Command[] = [
  status,
  check,
  test,
  nodes,
  encryption,
  pods,
  ipam,
  services,
  policies,
  connectivity,
  trace,
  capture,
  flows,
  events,
  plan,
  report,
  vppdump,
  vppcli,
  undeploy,
  version,
  completion,
];
