import { defineError } from '#infra/errors/errors.ts';

export const HealthCheckPortError = defineError({
  name: 'HealthCheckPortError',
  code: 'CV_SERVICE_HEALTH_CHECK_PORT',
  isRetriable: true,
  remedy:
    'Find the process that uses the port, for example with ss -ltnp, or recreate the service with another healthCheckNodePort.',
});
