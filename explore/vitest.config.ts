import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["tests/unit/*.test.ts"] } },
      {
        test: {
          name: "browser",
          include: ["tests/browser/*.test.ts"],
          globalSetup: ["tests/browser/setup.ts"],
          // Browsers share two processors: one file after the other, and no test is held to a time.
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: "timings", include: ["tests/timings/*.test.ts"], globalSetup: ["tests/browser/setup.ts"] } },
    ],
  },
});
