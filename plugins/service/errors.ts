import { defineError } from '#infra/errors/errors.ts';

/** No service has an address that this node translates. */
export const ServicesNotCarriedError = defineError({
  name: 'ServicesNotCarriedError',
  code: 'CV_SERVICES_NOT_CARRIED',
  remedy:
    'Set socketServices of service.conf, as the manifest does, without disableSocketServices, and restart the agent. If it is set, readiness lists under socket-services why the kernel does not translate.',
});
