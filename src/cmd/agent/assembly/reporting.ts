/** Status, metrics, log, and notifications for Kafka. */
import { collectDefaultMetrics, Registry } from 'prom-client';
import { logRoutes } from '#infra/log/loggers.ts';
import { wireMessaging } from '#infra/messaging/wire-messaging.ts';
import { registerBuildInfo } from '#infra/metrics/build-info.ts';
import { registerCertificates } from '#infra/metrics/certificates.ts';
import { probeRoutes } from '#infra/status/routes.ts';
import { StatusCheck } from '#infra/status/status.ts';
import type { AgentDeps, AgentPart, PartDeps } from './agent-part.ts';
import { createNotifications, type Notifications } from './notifications.ts';

export interface Reporting extends AgentPart, Pick<PartDeps, 'status' | 'registry'> {
  readonly notifications: Notifications;
}

export function reporting(deps: AgentDeps): Reporting {
  const { settings, build, clock, random, loggers } = deps;
  const { label, kafka } = settings;
  const status = new StatusCheck(clock, build);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerBuildInfo(registry, build);
  registerCertificates(registry, {
    'etcd authority': settings.etcd?.['ca-file'],
    'etcd client': settings.etcd?.['cert-file'],
    rest: settings.http['server-cert-file'],
    grpc: settings.grpc2?.['cert-file'],
  });
  const messaging = wireMessaging({
    config: kafka,
    label,
    registry,
    status,
    clock,
    random,
    loggers,
  });
  return {
    status,
    registry,
    notifications: createNotifications(kafka, label, messaging.notifier),
    components: messaging.components,
    routes: [...probeRoutes(status), ...logRoutes(loggers)],
  };
}
