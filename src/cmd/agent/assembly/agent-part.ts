/** Types that the parts of the agent have in common. */
import type { Registry } from 'prom-client';
import type { Clock, Random } from '#infra/clock/clock.ts';
import type { Route } from '#infra/http/route.ts';
import type { Loggers } from '#infra/log/loggers.ts';
import type { Component } from '#infra/process/lifecycle.ts';
import type { BuildInfo, StatusCheck } from '#infra/status/status.ts';
import type { ExternalConfigSource } from '#plugins/controller/api/events.ts';
import type { Environment } from '../environment.ts';
import type { PluginModule } from '../plugin-modules/plugin-host.ts';
import type { Settings } from '../settings.ts';

export interface AgentDeps {
  readonly settings: Settings;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly random: Random;
  readonly loggers: Loggers;
  readonly build: BuildInfo;
  /** Prints the boxes of events and transactions. */
  readonly print: (text: string) => void;
  /** Those of plugins.conf. */
  readonly pluginModules?: readonly PluginModule[];
  /** Sources of external configuration besides the datastore; the last one has precedence. */
  readonly externalSources?: readonly ExternalConfigSource[];
}

/** Inputs of every part: it adds its problems to the status, and its metrics to the registry. */
export interface PartDeps extends AgentDeps {
  readonly status: StatusCheck;
  readonly registry: Registry;
}

/** A part of the agent; its API is beside these. */
export interface AgentPart {
  /** In the order of their start. */
  readonly components: readonly Component[];
  readonly routes: readonly Route[];
}
