-- Drops the items of a digest that was sent; newer ones wait for the next digest.
--
-- KEYS  1 items for the account's digest  2 digests by when they are due
-- ARGV  1 account  2 when its next digest is due, ms; then the items that were sent
-- Returns  how many items wait

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
