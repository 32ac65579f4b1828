/** Errors of the host's STN daemon, as its clients see them. */
import { defineError } from '#infra/errors/errors.ts';

export const StnDaemonError = defineError({
  name: 'StnDaemonError',
  code: 'CV_STN_DAEMON',
  remedy:
    'Check that contiv-stn runs on the host, that stnSocketFile is its socket, and that it has stolen the NIC.',
});

export const StnRefusedError = defineError({
  name: 'StnRefusedError',
  code: 'CV_STN_REFUSED',
  rejects: 'configuration',
  remedy:
    'Check the name of the NIC (stealInterface), and the log of contiv-stn, which says why it does not take the NIC or give it back.',
});

export const StnGivenBackError = defineError({
  name: 'StnGivenBackError',
  code: 'CV_STN_NIC_LOST',
  rejects: 'configuration',
  remedy:
    'Read the log of contiv-stn: it gives a NIC back when the link vpp1 does not come up, or is lost. contiv-init asks for the NIC again when it is restarted.',
});
