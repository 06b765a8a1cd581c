import { CliError, exitCodes } from '../exit-codes.js';

/** What the operator can fix is printed as a sentence, as at a start. */
export async function asCliError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { startupProblem } = await import('../../start/startup-problem.js');
    const problem = startupProblem(error);
    throw problem === undefined ? error : new CliError(problem, exitCodes.failed);
  }
}
