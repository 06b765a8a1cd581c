/** A machine-readable last line. */
export default class ClosingLine {
  onRunComplete(
    _contexts,
    { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites },
  ) {
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    process.stdout.write(
      `\nTests: ${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped\n`,
    );
  }
}
