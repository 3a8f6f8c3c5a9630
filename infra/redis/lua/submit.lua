-- Adds a command to its shard's inbox, or answers it from its stored outcome.
--
-- KEYS  1 inbox  2 outcomes of the match  3 refusals of the match  4 floor of the shard's clock
--       5 archived matches  6 why the shard is closed
-- ARGV  1 command id  2 digest (8 bytes)  3 packed command  4 reply channel
--       5 received ms, or '' for TIME  6 most entries the inbox may hold  7 field of the refusals
--       8 most refusals in it  9 ms by which the floor may be ahead of the time
--       10 bit of the match in KEYS 5
-- Returns  {'known', stored outcome} | {'reused'} | {'archived'} | {'refused-too-often'} | {'full'}
--          | {'closed'}
--          | {'queued', entry id, received ms}

-- a key counts as often as it is named: 1 for outcomes, 2 for a closed shard, 4 for refusals; of a match in the
-- archive there are none of its own
local there = redis.call('EXISTS', KEYS[2], KEYS[6], KEYS[6], KEYS[3], KEYS[3], KEYS[3], KEYS[3])
if there % 2 == 0 and redis.call('GETBIT', KEYS[5], ARGV[10]) == 1 then
  return {'archived'}
end
local known = there % 2 == 1 and redis.call('HGET', KEYS[2], ARGV[1])
if known then
  local digest = string.sub(known, 1, 8)
  -- that of an outcome which was restored from the log is not known: see ANY_DIGEST
  if digest ~= ARGV[2] and digest ~= string.rep('\0', 8) then
    return {'reused'}
  end
  return {'known', known}
end
if there % 4 >= 2 then
  return {'closed'}
end
if there >= 4 then
  local refused = redis.call('HGET', KEYS[3], ARGV[7])
  if refused and tonumber(refused) >= tonumber(ARGV[8]) then
    return {'refused-too-often'}
  end
end
local waiting = redis.call('XLEN', KEYS[1])
if waiting >= tonumber(ARGV[6]) then
  return {'full'}
end
local now, most = tonumber(time_ms(ARGV[5])), tonumber(ARGV[9])
local received = math.max(now, floor_ms(KEYS[4], now, most))
if waiting > 0 then
  -- a watermark promises the time of the oldest entry, so none is older than the one before it
  local newest = received_ms(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1))
  if newest <= now + most then
    received = math.max(received, newest)
  end
end
received = string.format('%d', received)
local entry = redis.call('XADD', KEYS[1], '*', 'c', ARGV[3], 't', received, 'd', ARGV[4])
return {'queued', entry, received}
