-- Forgets what a digest has told; what has come since waits for the next digest.
--
-- KEYS  1 what the account's digest is to tell  2 digests by when they are due
-- ARGV  1 account  2 ms at which its next digest is due; then what was told
-- Returns  how much waits

for i = 3, #ARGV do
  redis.call('ZREM', KEYS[1], ARGV[i])
end
local left = redis.call('ZCARD', KEYS[1])
if left > 0 then
  redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return left
