// The generated modules name the files that Node imports.
export default {
  input: process.env.DOCUMENT,
  output: { path: "generated", importFileExtension: ".js" },
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
};
