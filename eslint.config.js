import js from '@eslint/js'
import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

const exportRules = [
  { selector: 'ExportDefaultDeclaration', message: 'Named exports only: one name for one thing.' },
  { selector: 'ExportAllDeclaration', message: 'List what a room shows; no `export *`.' },
]

export default defineConfig(
  { ignores: ['**/dist/**', '**/.next/**', 'coverage/**'] },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      'max-params': ['error', 3],
      '@typescript-eslint/no-invalid-void-type': ['error', { allowAsThisParameter: true }],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...exportRules],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreVoidReturningFunctions: true, ignoreArrowShorthand: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    },
  },
  { files: ['console/**/*.tsx'], rules: { 'max-lines-per-function': ['error', 110] } },
  {
    files: [
      '**/*.test.ts',
      'test/**/*.ts',
      'bench/**/*.ts',
      'examples/**/*.ts',
      'frontends/**/*.ts',
      'console/tests/**/*.ts',
    ],
    rules: { 'max-lines-per-function': 'off', 'max-params': 'off', 'no-console': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    ignores: ['test/**/*.test.ts', 'test/setup.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...exportRules,
        {
          selector:
            'Program > ExpressionStatement > CallExpression[callee.name=/^(before|after)(Each|All)$/]',
          message:
            'Test files share a process: a hook at the top of a support file holds for its first importer only. Use afterEachTest.',
        },
      ],
    },
  },
  { files: ['**/*.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['**/*.jsx'],
    languageOptions: {
      parserOptions: { ecmaFeatures: { jsx: true } },
      globals: Object.fromEntries(
        ['document', 'fetch', 'location', 'URLSearchParams', 'window'].map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    files: ['**/*.js', '**/*.mjs'],
    languageOptions: {
      globals: Object.fromEntries(
        ['console', 'crypto', 'fetch', 'process', 'Request', 'setTimeout', 'URL'].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
  },
)
