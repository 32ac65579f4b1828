/** What failures of the southbound mean to the event loop. */
import { CodedError } from '#infra/errors/errors.ts';

/** Errors that only say that VPP is not there: its return repairs what they left. */
export function isSouthboundGone(error: Error): boolean {
  return (
    error instanceof CodedError && (error.code === 'CV_VPP_GONE' || error.code === 'CV_VPP_TIMEOUT')
  );
}

/** A pod's namespace does not come back; what stood in it waits for the DEL. */
export function isBeyondHealing(error: Error): boolean {
  return error instanceof CodedError && error.code === 'CV_LINUX_NAMESPACE_GONE';
}
